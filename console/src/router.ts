// Every object has an address. Pages are loaded when they are first opened.

import { shallowRef } from 'vue'
import { createRouter, createWebHashHistory, type RouteRecordRaw } from 'vue-router'
import { Problem } from './api'
import { loadSession, session } from './lib/session'

declare module 'vue-router' {
	interface RouteMeta {
		/** Reachable without a session, drawn without the shell. */
		open?: boolean
		/** The part of the navigation that the page belongs to. */
		nav?: 'tasks' | 'runs' | 'failures' | 'alerts' | 'events' | 'calendars' | 'workers' | 'groups'
	}
}

const routes: RouteRecordRaw[] = [
	{ path: '/', redirect: '/tasks' },
	{ path: '/signin', name: 'signin', component: () => import('./pages/signin/SignIn.vue'), meta: { open: true } },
	{ path: '/setup', name: 'setup', component: () => import('./pages/signin/Setup.vue'), meta: { open: true } },
	{ path: '/tasks', name: 'tasks', component: () => import('./pages/tasks/Tasks.vue'), meta: { nav: 'tasks' } },
	{ path: '/tasks/new', name: 'task-new', component: () => import('./pages/task-edit/TaskEdit.vue'), meta: { nav: 'tasks' } },
	{ path: '/tasks/:id', name: 'task', component: () => import('./pages/task/TaskPage.vue'), props: true, meta: { nav: 'tasks' } },
	{
		path: '/tasks/:id/edit',
		name: 'task-edit',
		component: () => import('./pages/task-edit/TaskEdit.vue'),
		props: true,
		meta: { nav: 'tasks' },
	},
	{ path: '/runs', name: 'runs', component: () => import('./pages/runs/Runs.vue'), meta: { nav: 'runs' } },
	{ path: '/runs/:gid', name: 'run', component: () => import('./pages/run/RunPage.vue'), props: true, meta: { nav: 'runs' } },
	{ path: '/failures', name: 'failures', component: () => import('./pages/failures/Failures.vue'), meta: { nav: 'failures' } },
	{ path: '/failures/:id', name: 'failure', component: () => import('./pages/failures/FailurePage.vue'), props: true, meta: { nav: 'failures' } },
	{ path: '/alerts', name: 'alerts', component: () => import('./pages/alerts/Alerts.vue'), meta: { nav: 'alerts' } },
	{ path: '/alerts/:id', name: 'alert', component: () => import('./pages/alerts/AlertPage.vue'), props: true, meta: { nav: 'alerts' } },
	{ path: '/channels', name: 'channels', component: () => import('./pages/channels/Channels.vue'), meta: { nav: 'alerts' } },
	{ path: '/events', name: 'events', component: () => import('./pages/events/Events.vue'), meta: { nav: 'events' } },
	{ path: '/events/:id', name: 'event', component: () => import('./pages/events/EventPage.vue'), props: true, meta: { nav: 'events' } },
	{ path: '/calendars', name: 'calendars', component: () => import('./pages/calendars/Calendars.vue'), meta: { nav: 'calendars' } },
	{ path: '/calendars/:name', name: 'calendar', component: () => import('./pages/calendars/CalendarPage.vue'), props: true, meta: { nav: 'calendars' } },
	{ path: '/workers', name: 'workers', component: () => import('./pages/workers/Workers.vue'), meta: { nav: 'workers' } },
	{ path: '/groups', name: 'groups', component: () => import('./pages/groups/Groups.vue'), meta: { nav: 'groups' } },
	{ path: '/:rest(.*)*', name: 'not-found', component: () => import('./pages/not-found/NotFound.vue') },
]

/** Why the first question to the server had no answer; the shell shows it with a way to try again. */
export const bootProblem = shallowRef<Problem | null>(null)

export const router = createRouter({
	history: createWebHashHistory(),
	routes,
	scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
})

router.beforeEach(async (to) => {
	if (to.meta.open || session.value) return true
	try {
		bootProblem.value = null
		if (await loadSession()) return true
	} catch (error) {
		bootProblem.value = error instanceof Problem ? error : new Problem(0, 'internal', String(error), '')
		return true
	}
	return { name: 'signin', query: to.fullPath === '/tasks' ? {} : { to: to.fullPath } }
})

// Who is signed in, and what that person may do.

import { shallowRef } from 'vue'
import { api, Problem, type Role, type Session } from '@/api'
import { setCsrf } from '@/api/client'
import { setServerTime } from './clock'

export const session = shallowRef<Session | null>(null)

export function adoptSession(value: Session | null): void {
	session.value = value
	setCsrf(value?.csrf ?? '')
}

/** Asks the server who we are. False when nobody is signed in; throws when the server cannot be asked. */
export async function loadSession(): Promise<boolean> {
	const sent = Date.now()
	try {
		const value = await api.session()
		setServerTime(value.server_time, sent, Date.now())
		adoptSession(value)
		return true
	} catch (error) {
		if (!(error instanceof Problem) || error.status !== 401) throw error
		adoptSession(null)
		return false
	}
}

/** Tabs share the cookie: who signs in anew in one of them changes the session of all. False when it is somebody else. */
export async function renewSession(): Promise<boolean> {
	const before = session.value?.user
	return (await loadSession()) && session.value?.user === before
}

const ORDER: Role[] = ['viewer', 'operator', 'editor', 'admin']

export function roleHolds(has: Role, needs: Role): boolean {
	return ORDER.indexOf(has) >= ORDER.indexOf(needs)
}

/** Whether the signed-in user holds the role. The server decides; this only hides what it would refuse. */
export function can(role: Role): boolean {
	return session.value !== null && roleHolds(session.value.role, role)
}

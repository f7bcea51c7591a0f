// Keys of the whole console. They rest while somebody types.

import { nextTick, onBeforeUnmount, onMounted } from 'vue'
import { useRouter } from 'vue-router'

/** Marks the search field of a page. */
export const SEARCH = '[data-search] input, input[data-search]'

const isTyping = (target: EventTarget | null): boolean =>
	target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const GO_MS = 1_200

export function useKeys(help: () => void): void {
	const router = useRouter()
	let goUntil = 0

	async function search(): Promise<void> {
		if (!document.querySelector(SEARCH)) {
			await router.push({ name: 'tasks' })
			await nextTick()
		}
		document.querySelector<HTMLInputElement>(SEARCH)?.focus()
	}

	function onKey(event: KeyboardEvent): void {
		if (event.ctrlKey || event.metaKey || event.altKey) return
		if (isTyping(event.target)) {
			const field = event.target as HTMLElement
			if (event.key === 'Escape' && field.matches(SEARCH)) field.blur()
			return
		}
		if (document.querySelector('.el-overlay-dialog')?.checkVisibility()) return
		if (performance.now() < goUntil) {
			goUntil = 0
			const target = { t: 'tasks', r: 'runs', f: 'failures', a: 'alerts', e: 'events', c: 'calendars', w: 'workers', g: 'groups' }[event.key]
			if (target) {
				event.preventDefault()
				void router.push({ name: target })
				return
			}
		}
		if (event.key === '/') {
			event.preventDefault()
			void search()
		} else if (event.key === '?') {
			event.preventDefault()
			help()
		} else if (event.key === 'g') goUntil = performance.now() + GO_MS
		else if (event.key === 'n') void router.push({ name: 'task-new' })
	}
	onMounted(() => document.addEventListener('keydown', onKey))
	onBeforeUnmount(() => document.removeEventListener('keydown', onKey))
}

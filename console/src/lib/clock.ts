// The server's clock as this browser sees it, ticking once a second while the tab is visible.

import { readonly, ref } from 'vue'

let offsetMs = 0
const tick = ref(Date.now())
let timer: ReturnType<typeof setTimeout> | undefined

export const serverNow = readonly(tick)

/** An answer that left the server at `serverTime`, asked at `sent` and here at `received` (both of our clock). */
export function setServerTime(serverTime: number, sent: number, received: number): void {
	offsetMs = serverTime - (sent + received) / 2
	tick.value = Date.now() + offsetMs
}

function beat(): void {
	clearTimeout(timer)
	tick.value = Date.now() + offsetMs
	if (!document.hidden) timer = setTimeout(beat, 1_000 - (tick.value % 1_000))
}

export function startClock(): void {
	document.addEventListener('visibilitychange', beat)
	beat()
}

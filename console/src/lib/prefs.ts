// What this browser remembers of its user: language, colours, whether pages follow the server.

import { reactive, watch } from 'vue'

export type Lang = 'en' | 'zh'
export type Theme = 'auto' | 'light' | 'dark'

interface Prefs {
	lang: Lang
	theme: Theme
	livePaused: boolean
}

const KEY = 'ax.prefs'

/** The language that the browser asks for, when the user chose none. */
export function browserLang(languages: readonly string[]): Lang {
	return languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === 'zh' || tag === 'en') === 'zh'
		? 'zh'
		: 'en'
}

function load(): Prefs {
	const defaults: Prefs = { lang: browserLang(navigator.languages), theme: 'auto', livePaused: false }
	try {
		const saved = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Prefs>
		return {
			lang: saved.lang === 'en' || saved.lang === 'zh' ? saved.lang : defaults.lang,
			theme: saved.theme === 'light' || saved.theme === 'dark' ? saved.theme : 'auto',
			livePaused: saved.livePaused === true,
		}
	} catch {
		return defaults
	}
}

export const prefs = reactive<Prefs>(load())

const darkQuery = matchMedia('(prefers-color-scheme: dark)')

function paint(): void {
	const dark = prefs.theme === 'dark' || (prefs.theme === 'auto' && darkQuery.matches)
	document.documentElement.classList.toggle('dark', dark)
}

export function startPrefs(): void {
	paint()
	darkQuery.addEventListener('change', paint)
	watch(prefs, () => {
		paint()
		try {
			localStorage.setItem(KEY, JSON.stringify(prefs))
		} catch {
			// A browser that forbids storage forgets; nothing else depends on it.
		}
	})
}

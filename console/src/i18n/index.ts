// t(): the text of a key in the user's language. Only the catalogue in use is loaded.

import type { Language } from 'element-plus/es/locale'
import { shallowRef } from 'vue'
import type { Lang } from '@/lib/prefs'
import type { Catalogue, Key } from './en'

export type { Key } from './en'

const catalogue = shallowRef<Partial<Catalogue>>({})
/** The texts of Element Plus in the same language. */
export const elementLocale = shallowRef<Language>()
export const currentLang = shallowRef<Lang>('en')

type Faults = Pick<typeof import('./faults'), 'faultText' | 'messageText'>
/** The server's own words, which are English: what puts them into the user's language, where that is another. */
const faults = shallowRef<Faults | null>(null)

type Loaded = [Catalogue, Language]
const loaders: Record<Lang, () => Promise<Loaded>> = {
	en: async () => {
		const [own, element] = await Promise.all([import('./en'), import('element-plus/es/locale/lang/en')])
		return [own.en, element.default]
	},
	zh: async () => {
		const [own, element] = await Promise.all([import('./zh'), import('element-plus/es/locale/lang/zh-cn')])
		return [own.zh, element.default]
	},
}

/** They come behind the page, which waits for none of them; without them the server's English stands. */
function loadFaults(): void {
	import('./faults').then(
		(said) => (faults.value = said),
		() => undefined,
	)
}

export async function loadLang(lang: Lang): Promise<void> {
	const [texts, element] = await loaders[lang]()
	catalogue.value = texts
	elementLocale.value = element
	currentLang.value = lang
	if (lang === 'zh') loadFaults()
	document.documentElement.lang = lang === 'zh' ? 'zh-CN' : 'en'
}

export type Params = Record<string, string | number>

/**
 * Fills {name} in; forms separated by | are picked by n. Two are for one and for any other number, three for
 * zero, one and any other.
 */
export function fill(text: string, params: Params = {}): string {
	const forms = text.split('|')
	const n = Number(params.n)
	const form = forms.length === 1 ? 0 : forms.length === 2 ? (n === 1 ? 0 : 1) : n === 0 ? 0 : n === 1 ? 1 : 2
	return forms[form]!.replace(/\{(\w+)\}/g, (whole, name: string) => (name in params ? String(params[name]) : whole))
}

export function t(key: Key, params?: Params): string {
	return fill(catalogue.value[key] ?? key, params)
}

/** The text of a key that is put together from a word of the server's; the word itself when it is new to us. */
export function tWord(prefix: string, word: string, params?: Params): string {
	const text = catalogue.value[`${prefix}.${word}` as Key]
	return text === undefined ? word : fill(text, params)
}

/** What the server says no with, in the user's language; as it is when nobody put it into words yet. */
export function tFault(english: string): string {
	return (currentLang.value === 'zh' && faults.value?.faultText(english)) || english
}

/** The message of a run: the server's own ones in the user's language, those of workers and people as they are. */
export function tMessage(english: string): string {
	return (currentLang.value === 'zh' && faults.value?.messageText(english)) || english
}

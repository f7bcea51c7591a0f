// Texts that only one page needs lie with the page, so that the shell does not carry them.
import { currentLang, fill, type Params } from '@/i18n'

export function pageTexts<K extends string>(texts: { en: Record<K, string>; zh: Record<K, string> }) {
	return (key: K, params?: Params): string => fill(texts[currentLang.value][key], params)
}

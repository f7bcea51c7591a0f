// What the server said no with, in the user's language.

import type { Problem } from '@/api'
import { currentLang, tFault, tWord } from '@/i18n'

/** The sentence that stands for a code; "" when there is none. */
export function codeText(code: string): string {
	const known = tWord('problem', code)
	return known === code ? '' : known
}

/** One line for a field or a message: what is wrong in the user's language, else what the code means and the server's own sentence. */
export function problemText(problem: Problem): string {
	const known = codeText(problem.code)
	const said = tFault(problem.detail)
	if (currentLang.value === 'en' || said !== problem.detail) return said || problem.message || known
	return [known, said].filter(Boolean).join(' ') || problem.message
}

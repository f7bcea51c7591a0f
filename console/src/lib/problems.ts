// What the server said no with, in the user's language where the code alone says enough; its own sentence otherwise.

import type { Problem } from '@/api'
import { currentLang, tWord } from '@/i18n'

/** The sentence that stands for a code; "" when there is none. */
export function codeText(code: string): string {
	const known = tWord('problem', code)
	return known === code ? '' : known
}

/** One line for a field or a message: the translated code before the server's sentence. */
export function problemText(problem: Problem): string {
	const known = codeText(problem.code)
	if (currentLang.value === 'en') return problem.message || known
	return [known, problem.detail].filter(Boolean).join(' ') || problem.message
}

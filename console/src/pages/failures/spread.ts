// What may be said of where a cause fails, in the user's language. The server decides what the numbers bear out and
// says it in English; a sentence that this file has for its code is filled from the same numbers.

import type { FailureDetail } from '@/api'
import { currentLang, fill, tWord } from '@/i18n'

type Hint = FailureDetail['hints'][number]

export function hintText(hint: Hint, failure: FailureDetail): string {
	const known = tWord('hint', hint.code)
	if (currentLang.value === 'en' || known === hint.code || failure.spread.truncated) return hint.text
	const { workers, versions } = failure.spread
	const first = versions.reduce((least, now) => (now.version < least.version ? now : least), versions[0]!)
	return fill(known, {
		worker: workers[0]?.worker ?? '',
		task: first?.task_name ?? '',
		version: first?.version ?? '',
		tasks: new Set(versions.map((version) => version.task_id)).size,
	})
}

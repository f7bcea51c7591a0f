import { ElMessage } from 'element-plus'
import { Problem } from '@/api'
import { tWord } from '@/i18n'

export function done(text: string): void {
	ElMessage.success({ message: text, duration: 3_000, showClose: true })
}

/** For actions without a place of their own to show a problem. */
export function failed(problem: Problem): void {
	const known = tWord('problem', problem.code)
	const message = known === problem.code ? problem.message : [known, problem.detail].filter(Boolean).join(' ')
	ElMessage.error({ message, duration: 8_000, showClose: true })
}

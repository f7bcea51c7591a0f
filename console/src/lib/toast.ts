import { ElMessage } from 'element-plus'
import type { Problem } from '@/api'
import { problemText } from './problems'

export function done(text: string): void {
	ElMessage.success({ message: text, duration: 3_000, showClose: true })
}

/** For actions without a place of their own to show a problem. */
export function failed(problem: Problem): void {
	ElMessage.error({ message: problemText(problem), duration: 8_000, showClose: true })
}

// The output of one attempt, growing: chunks in, lines out. Chunks may come twice (once by the list, once by the
// stream) and, over a reconnection, out of order.

import { ref } from 'vue'
import type { OutputChunk } from '@/api'
import { parseLine, plain, type Piece, type Style } from './ansi'

export interface Line {
	pieces: Piece[]
	/** What is searched: the line as drawn. */
	text: string
}

/** Longer lines are cut in the view; the download has them whole. */
export const MAX_LINE = 10_000

export class OutputLog {
	readonly lines: Line[] = []
	/** Grows with every change: the lines themselves are not reactive, there may be 100,000. */
	readonly revision = ref(0)
	private readonly chunks = new Map<number, string>()
	private nextSeq = -1
	private rest = ''
	private style: Style = plain
	private openLine = false

	add(chunks: OutputChunk[]): void {
		const fresh = chunks.filter((chunk) => !this.chunks.has(chunk.seq)).sort((a, b) => a.seq - b.seq)
		if (fresh.length === 0) return
		for (const chunk of fresh) this.chunks.set(chunk.seq, chunk.data)
		if (fresh[0]!.seq < this.nextSeq) this.rebuild()
		else for (const chunk of fresh) this.append(chunk.seq, chunk.data)
		this.revision.value++
	}

	get lastSeq(): number {
		return this.nextSeq - 1
	}

	/** Everything as it came. */
	raw(): string {
		return [...this.chunks.keys()].sort((a, b) => a - b).map((seq) => this.chunks.get(seq)).join('')
	}

	private rebuild(): void {
		this.lines.length = 0
		this.nextSeq = -1
		this.rest = ''
		this.style = plain
		this.openLine = false
		for (const seq of [...this.chunks.keys()].sort((a, b) => a - b)) this.append(seq, this.chunks.get(seq)!)
	}

	private append(seq: number, data: string): void {
		this.nextSeq = seq + 1
		const parts = (this.rest + data).split('\n')
		this.rest = parts.pop()!
		if (this.openLine) this.lines.pop()
		for (const part of parts) {
			const { line, end } = draw(part, this.style)
			this.lines.push(line)
			this.style = end
		}
		this.openLine = this.rest !== ''
		if (this.openLine) this.lines.push(draw(this.rest, this.style).line)
	}
}

function draw(source: string, style: Style): { line: Line; end: Style } {
	const text = source.endsWith('\r') ? source.slice(0, -1) : source
	const { pieces, end } = parseLine(text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)} …` : text, style)
	return { line: { pieces, text: pieces.map((piece) => piece.text).join('') }, end }
}

/** The numbers of the lines that hold the words, ignoring case. */
export function searchLines(lines: readonly Line[], words: string): number[] {
	const needle = words.toLowerCase()
	const found: number[] = []
	if (needle) lines.forEach((line, index) => line.text.toLowerCase().includes(needle) && found.push(index))
	return found
}

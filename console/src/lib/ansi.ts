// Output of tasks is hostile text. This turns it into pieces that are drawn as text nodes: the colours of SGR
// sequences become class names, every other control character becomes a visible symbol.

export interface Piece {
	text: string
	/** Class names, "" for plain text. */
	cls: string
}

/** What SGR has switched on so far; carried from line to line. */
export interface Style {
	fg: number | null
	bg: number | null
	bold: boolean
	dim: boolean
	italic: boolean
	underline: boolean
	inverse: boolean
}

export const plain: Style = {
	fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false,
}

const SGR = /\x1b\[([0-9;:]*)m/g
const UNSAFE = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

const NAMES: Record<number, string> = { 0: 'NUL', 7: 'BEL', 8: 'BS', 12: 'FF', 13: 'CR', 27: 'ESC', 127: 'DEL' }

/** Control, bidirectional and invisible characters by name, as ⟨ESC⟩; tab stays. */
export function visible(text: string): string {
	return text.replace(UNSAFE, (char) => {
		const code = char.charCodeAt(0)
		if (NAMES[code]) return `\u27e8${NAMES[code]}\u27e9`
		return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`
	})
}

const PALETTE = [
	[0, 0, 0], [205, 49, 49], [13, 188, 121], [200, 180, 20], [36, 114, 200], [188, 63, 188], [17, 168, 205], [200, 200, 200],
	[110, 110, 110], [241, 76, 76], [35, 209, 139], [245, 245, 67], [59, 142, 234], [214, 112, 214], [41, 184, 219], [255, 255, 255],
] as const

/** The nearest of the 16 colours that the theme defines. */
function nearest(r: number, g: number, b: number): number {
	let best = 0
	let bestDistance = Infinity
	PALETTE.forEach(([pr, pg, pb], index) => {
		const distance = (pr - r) ** 2 + (pg - g) ** 2 + (pb - b) ** 2
		if (distance < bestDistance) [best, bestDistance] = [index, distance]
	})
	return best
}

function indexed(n: number): number {
	if (n < 16) return n
	if (n >= 232) return nearest((n - 232) * 10 + 8, (n - 232) * 10 + 8, (n - 232) * 10 + 8)
	const level = (i: number) => (i === 0 ? 0 : 55 + 40 * i)
	return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6))
}

/** The style after one SGR sequence with these parameters. */
export function applySgr(style: Style, params: string): Style {
	const codes = params.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)))
	let next = { ...style }
	for (let i = 0; i < codes.length; i++) {
		const code = codes[i]!
		if (code === 0) next = { ...plain }
		else if (code === 1) next.bold = true
		else if (code === 2) next.dim = true
		else if (code === 3) next.italic = true
		else if (code === 4) next.underline = true
		else if (code === 7) next.inverse = true
		else if (code === 22) next.bold = next.dim = false
		else if (code === 23) next.italic = false
		else if (code === 24) next.underline = false
		else if (code === 27) next.inverse = false
		else if (code >= 30 && code <= 37) next.fg = code - 30
		else if (code === 39) next.fg = null
		else if (code >= 40 && code <= 47) next.bg = code - 40
		else if (code === 49) next.bg = null
		else if (code >= 90 && code <= 97) next.fg = code - 82
		else if (code >= 100 && code <= 107) next.bg = code - 92
		else if (code === 38 || code === 48) {
			let color: number | null = null
			if (codes[i + 1] === 5) {
				color = indexed(Math.min(255, codes[i + 2] ?? 0))
				i += 2
			} else if (codes[i + 1] === 2) {
				color = nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0)
				i += 4
			}
			if (color !== null) next[code === 38 ? 'fg' : 'bg'] = color
		}
	}
	return next
}

function className(style: Style): string {
	const fg = style.inverse ? style.bg : style.fg
	const bg = style.inverse ? style.fg : style.bg
	const names: string[] = []
	if (fg !== null) names.push(`fg-${fg}`)
	if (bg !== null) names.push(`bg-${bg}`)
	if (style.inverse && fg === null && bg === null) names.push('inverse')
	for (const flag of ['bold', 'dim', 'italic', 'underline'] as const) if (style[flag]) names.push(flag)
	return names.join(' ')
}

/** The pieces of one line (without its line feed), and the style in which the next line begins. */
export function parseLine(line: string, start: Style = plain): { pieces: Piece[]; end: Style } {
	const pieces: Piece[] = []
	let style = start
	let from = 0
	const push = (until: number) => {
		if (until > from) pieces.push({ text: visible(line.slice(from, until)), cls: className(style) })
	}
	for (const match of line.matchAll(SGR)) {
		push(match.index)
		style = applySgr(style, match[1]!)
		from = match.index + match[0].length
	}
	push(line.length)
	return { pieces, end: style }
}

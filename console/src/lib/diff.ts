// What differs between two definitions of a task.

const canonical = (value: unknown): string =>
	JSON.stringify(value ?? null, (_key, inner: unknown) =>
		typeof inner === 'object' && inner !== null && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	)

export const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** The fields of `now` that are not as they were in `before`. */
export function changes<T extends object>(before: Partial<T>, now: T): Partial<T> {
	const out: Partial<T> = {}
	for (const key of Object.keys(now) as (keyof T)[]) if (!same(before[key], now[key])) out[key] = now[key]
	return out
}

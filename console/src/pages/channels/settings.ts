// The settings of each kind of channel (docs/alerts.md): how they are typed in, which are secret and never come back.

import type { ChannelKind, Json } from '@/api'

export interface Setting {
	name: string
	kind: 'text' | 'number' | 'list' | 'flag' | 'security'
	secret?: boolean
}
const url: Setting = { name: 'url', kind: 'text', secret: true }
const secret: Setting = { name: 'secret', kind: 'text', secret: true }
const mentions: Setting[] = [{ name: 'mobiles', kind: 'list' }, { name: 'mention_all', kind: 'flag' }]

export const SETTINGS: Record<ChannelKind, readonly Setting[]> = {
	webhook: [url, secret, { name: 'authorization', kind: 'text', secret: true }],
	smtp: [
		{ name: 'host', kind: 'text' },
		{ name: 'port', kind: 'number' },
		{ name: 'security', kind: 'security' },
		{ name: 'user', kind: 'text' },
		{ name: 'password', kind: 'text', secret: true },
		{ name: 'from', kind: 'text' },
		{ name: 'to', kind: 'list' },
	],
	dingtalk: [url, secret, ...mentions],
	feishu: [url, secret],
	wecom: [url, ...mentions],
	slack: [url],
}

export type Typed = Record<string, string | boolean>

/** What the form starts with: secrets empty, everything else as it is. */
export function typedOf(kind: ChannelKind, settings: { [name: string]: Json }): Typed {
	return Object.fromEntries(
		SETTINGS[kind].map(({ name, kind: how, secret: hidden }) => {
			const value = settings[name]
			if (how === 'flag') return [name, value === true]
			if (hidden || value === undefined || value === null) return [name, how === 'security' ? 'starttls' : '']
			return [name, Array.isArray(value) ? value.join(', ') : String(value)]
		}),
	)
}

/** What is sent: what was typed; an empty secret leaves the stored one, an emptied text takes it away. */
export function settingsOf(kind: ChannelKind, typed: Typed, before: { [name: string]: Json } | null): { [name: string]: Json } {
	const out: { [name: string]: Json } = {}
	for (const { name, kind: how, secret: hidden } of SETTINGS[kind]) {
		const value = typed[name] ?? ''
		if (how === 'flag') out[name] = value === true
		else if (typeof value === 'string' && value.trim() !== '') {
			const text = value.trim()
			out[name] = how === 'list' ? text.split(/[\s,;]+/).filter(Boolean) : how === 'number' && /^\d+$/.test(text) ? Number(text) : text
		} else if (!hidden && before?.[name] !== undefined && before[name] !== null) out[name] = null
	}
	return out
}

import { expect, test } from 'vitest'
import { settingsOf, typedOf } from '@/pages/channels/settings'

test('secrets are written and never shown; an empty one is left as it is', () => {
	expect(typedOf('webhook', { url: 'x' })).toEqual({ url: '', secret: '', authorization: '' })
	expect(settingsOf('webhook', { url: '', secret: ' s ', authorization: '' }, {})).toEqual({ secret: 's' })
})

test('lists, numbers and flags go both ways; an emptied text is taken away', () => {
	const before = { host: 'm', port: 587, security: 'tls', user: 'ax', to: ['a@x', 'b@x'] }
	const typed = typedOf('smtp', before)
	expect(typed).toEqual({ host: 'm', port: '587', security: 'tls', user: 'ax', password: '', from: '', to: 'a@x, b@x' })
	expect(settingsOf('smtp', { ...typed, user: '', to: 'a@x' }, before)).toEqual({ host: 'm', port: 587, security: 'tls', user: null, to: ['a@x'] })
	expect(settingsOf('wecom', { url: 'u', mobiles: '1 2', mention_all: true }, null)).toEqual({ url: 'u', mobiles: ['1', '2'], mention_all: true })
})

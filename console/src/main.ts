import 'element-plus/theme-chalk/base.css'
import 'element-plus/theme-chalk/dark/css-vars.css'
import './styles/tokens.css'
import './styles/base.css'
import { createApp, watch } from 'vue'
import { setRenewHandler, setSignedOutHandler } from './api/client'
import App from './App.vue'
import { loadLang } from './i18n'
import { startClock } from './lib/clock'
import { watchLive } from './lib/live'
import { prefs, startPrefs } from './lib/prefs'
import { adoptSession, renewSession } from './lib/session'
import { router } from './router'

startPrefs()
startClock()
watchLive()
setSignedOutHandler(() => {
	adoptSession(null)
	const { name, fullPath } = router.currentRoute.value
	if (name !== 'signin') void router.push({ name: 'signin', query: { to: fullPath } })
})
setRenewHandler(renewSession)
watch(() => prefs.lang, (lang) => loadLang(lang))
await loadLang(prefs.lang)
createApp(App).use(router).mount('#app')

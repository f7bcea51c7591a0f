import { fileURLToPath } from 'node:url'
import vue from '@vitejs/plugin-vue'
import ElementPlus from 'unplugin-element-plus/vite'
import { defineConfig } from 'vitest/config'

// `npm run dev` serves the sources and hands /api to a running server.
const server = process.env.AX_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
	plugins: [vue(), ElementPlus({})],
	resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
	server: { host: '127.0.0.1', proxy: { '/api': { target: server, changeOrigin: true } } },
	build: {
		target: 'es2022',
		manifest: 'manifest.json',
		// The policy of the server allows scripts, styles and fonts from files only.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		rollupOptions: {
			output: {
				// The shell's own libraries in one file, so that a release of ours leaves it in the caches.
				manualChunks: (id) => (/node_modules\/(@vue|vue|vue-router)\//.test(id) ? 'vue' : undefined),
			},
		},
	},
	test: { include: ['tests/unit/**/*.test.ts'], environment: 'node' },
})

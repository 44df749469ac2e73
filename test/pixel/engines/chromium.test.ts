import { startChromium } from './puppeteer.ts'
import { runTable } from './table.ts'

runTable('chromium', startChromium)

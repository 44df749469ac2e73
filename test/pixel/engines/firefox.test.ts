import { startFirefox } from './puppeteer.ts'
import { runTable } from './table.ts'

runTable('firefox', startFirefox)

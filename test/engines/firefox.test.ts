import { startFirefox } from '../pixel/engines/puppeteer.ts'
import { runTable } from '../pixel/engines/table.ts'

runTable('firefox', startFirefox)

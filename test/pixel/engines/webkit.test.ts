import { runTable } from './table.ts'
import { startWebKit } from './webkit.ts'

runTable('webkit', startWebKit)

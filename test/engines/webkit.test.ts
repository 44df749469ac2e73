import { runTable } from '../pixel/engines/table.ts'
import { startWebKit } from '../pixel/engines/webkit.ts'

runTable('webkit', startWebKit)

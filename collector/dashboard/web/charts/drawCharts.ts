/** What draws charts: one chunk, which is loaded with the first chart that is shown. */
export { drawBars } from './bars.ts'
export { drawLines } from './lines.ts'

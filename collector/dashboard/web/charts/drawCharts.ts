/** The drawing code of charts, in one chunk that is loaded with the first visible chart. */
export { drawBars } from './bars.ts'
export { drawLines } from './lines.ts'

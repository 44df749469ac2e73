/** Sets a process's clock wrong by as many milliseconds as the file WRONG_CLOCK says, whenever it says another number. */
import { readFileSync } from 'node:fs'

const right = Date.now
let wrongMs = 0
const look = () => {
  wrongMs = Number(readFileSync(process.env.WRONG_CLOCK, 'utf8'))
}
look()
setInterval(look, 20).unref()
Date.now = () => right() + wrongMs

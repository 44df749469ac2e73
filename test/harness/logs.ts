import { Writable } from 'node:stream'
import { pino } from 'pino'

/** Most lines of each log that a failed test prints. */
const linesMax = 60

interface KeptLog {
  name: string
  /** All that was logged so far. */
  output(): string
}

/** Of the test file that runs, and of what outlives it. */
const kept = { file: [] as KeptLog[], worker: [] as KeptLog[] }

/** Lets failed tests print this log, until the file ends or, with `worker`, always. */
export const keepLog = (log: KeptLog, until: keyof typeof kept = 'file'): number =>
  kept[until].push(log)

/** Forgets the logs of the file that has ended. */
export const forgetLogs = (): KeptLog[] => kept.file.splice(0)

/** Records the current end of all logs, and returns a function that reads the last lines after it. */
export function followLogs(): () => string {
  const all = () => [...kept.worker, ...kept.file]
  const starts = new Map(all().map((log) => [log, log.output().length]))
  const textSince = (log: KeptLog) => log.output().slice(starts.get(log)).trim()
  return () =>
    all()
      .map((log) => ({ name: log.name, text: textSince(log) }))
      .filter(({ text }) => text !== '')
      .map(({ name, text }) => `${name}:\n${lastLines(text)}`)
      .join('\n')
}

function lastLines(text: string): string {
  const lines = text.split('\n')
  const left = lines.length - linesMax
  return left > 0 ? [`(${left} lines before)`, ...lines.slice(left)].join('\n') : text
}

/** A log that is kept in memory, and printed by failed tests. */
export function openMemoryLog(name: string, level: string, until?: keyof typeof kept) {
  const lines: string[] = []
  const keep = new Writable({
    write(line, _encoding, done) {
      lines.push(String(line))
      done()
    },
  })
  const output = () => lines.join('')
  keepLog({ name, output }, until)
  return { log: pino({ level }, keep), output }
}

import { type Logger, pino } from 'pino'

export type Log = Logger

/** Fields of a log line, for searches. Of an error only the message: the rest may have rows. */
type LogFields = Readonly<Record<string, unknown>>

/** The part of a log for lost data. */
export interface ErrorLog {
  error(fields: LogFields, message: string): void
}

/** The part of a log for failures that are retried. */
export interface WarnLog {
  warn(fields: LogFields, message: string): void
}

/** Opens the structured log on standard output, which never contains keys or data that visitors send. */
export const openLog = ({ logLevel }: { logLevel: string }): Log =>
  pino({ level: logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime })

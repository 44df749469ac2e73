import { type Logger, pino } from 'pino'

export type Log = Logger

/**
 * Fields of a log line in addition to its message, for searches. For an error only its message, because the
 * rest may quote rows.
 */
export type LogFields = Readonly<Record<string, unknown>>

/** The part of a log for lost data. */
export interface ErrorLog {
  error(fields: LogFields, message: string): void
}

/** The part of a log for failures that are retried. */
export interface WarnLog {
  warn(fields: LogFields, message: string): void
}

/** Structured logs on standard output. What visitors send is never in them, nor are keys. */
export const openLog = ({ logLevel }: { logLevel: string }): Log =>
  pino({ level: logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime })

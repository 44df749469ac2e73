import { type Logger, pino } from 'pino'

export type Log = Logger

/** What a log line says besides its message, by names to search for; of an error its message alone, for the rest may quote rows. */
export type LogFields = Readonly<Record<string, unknown>>

/** The part of a log that tells of what was lost. */
export interface ErrorLog {
  error(fields: LogFields, message: string): void
}

/** The part of a log that tells of what went wrong and is tried again. */
export interface WarnLog {
  warn(fields: LogFields, message: string): void
}

/** Structured logs on standard output. What visitors send is never in them, nor are keys. */
export const openLog = ({ logLevel }: { logLevel: string }): Log =>
  pino({ level: logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime })

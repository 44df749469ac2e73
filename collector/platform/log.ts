import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

export type Log = Logger

/** Structured logs on standard output. What visitors send is never in them, nor are keys. */
export const openLog = ({ logLevel }: Config): Log =>
  pino({ level: logLevel, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime })

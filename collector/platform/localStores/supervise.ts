import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { buildRoot } from '../paths.ts'
import { StartError } from '../startError.ts'

export interface LocalStore {
  /** The port of the store; a restart keeps it. */
  readonly port: number
  /** Process id of the launcher, for tests that kill it. */
  pid(): number | undefined
  /** Stops the store and waits until its process has ended. */
  stop(): Promise<void>
}

interface LocalStoreOptions {
  name: string
  /** The launcher's bundle, which reads `settings` and the port from its standard input. */
  launcher: string
  settings: Record<string, unknown>
  /** Resolves when the server answers queries; otherwise rejects or throws. */
  ready: (port: number) => Promise<void>
  readyTimeoutMs: number
  /** The process priority (nice), 0 to 19; default 0. */
  nice?: number
  onRestart: (reason: string) => void
}

/** The exit code with which a launcher reports that a retry cannot help. */
const cannotStart = 78
const restartDelayMs = 250
const readyPollMs = 40

/**
 * Runs a store as a child process until this process ends. The kernel closes the child's standard input when
 * this process ends for any reason, and the launcher then stops its server. A child that dies is restarted on
 * the same port and data. Rejects with StartError if the store does not answer within `readyTimeoutMs`, or
 * reports that a retry cannot help.
 */
export async function superviseLocalStore(options: LocalStoreOptions): Promise<LocalStore> {
  const port = await freePort()
  let child: ChildProcess
  let stopping = false
  let isRunning = false
  let lastWords = ''
  /** After a successful start, the cause of any exit may be temporary. */
  const isHopeless = (code: number | null) => code === cannotStart && !isRunning

  const start = () => {
    // Detached, because a Ctrl-C in the terminal must reach only the collector, which stops its stores last.
    child = spawn(process.execPath, [launcherPath(options.launcher)], {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    })
    // Set before the child starts threads, because threads inherit its priority.
    if (options.nice && child.pid !== undefined) setPriority(child.pid, options.nice)
    child.stdin!.on('error', () => {})
    // Standard input, because every user of the machine can read a command line, and the settings contain a
    // password.
    child.stdin!.write(`${JSON.stringify({ ...options.settings, port })}\n`)
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-2000)
    })
    child.once('exit', (code, signal) => {
      if (stopping || isHopeless(code)) return
      options.onRestart(`${options.name} ended (${signal ?? `exit ${code}`}); starting it again`)
      setTimeout(() => stopping || start(), restartDelayMs)
    })
  }

  const stop = async () => {
    stopping = true
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.stdin!.end()
    await exited
  }

  start()
  const deadline = Date.now() + options.readyTimeoutMs
  for (;;) {
    try {
      await options.ready(port)
      isRunning = true
      return { port, pid: () => child.pid, stop }
    } catch (error) {
      if (isHopeless(child!.exitCode) || Date.now() > deadline) {
        await stop()
        if (isHopeless(child!.exitCode)) await finished(child!.stderr!).catch(() => {})
        throw new StartError(
          `${options.name} did not start: ${lastWords.trim() || (error as Error).message}`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, readyPollMs))
    }
  }
}

function launcherPath(launcher: string): string {
  const path = join(buildRoot, 'collector', launcher)
  if (!existsSync(path)) throw new StartError(`${path} is missing: run npm run build`)
  return path
}

/**
 * Below the ephemeral ports of systems (from 32768 on Linux, 49152 by RFC 6335). A connection can occupy an
 * ephemeral port before we listen on it. A connection to an ephemeral port without a listener can connect to
 * itself.
 */
const ports = { first: 11_000, count: 21_000 }
/** Starts at a random port and counts up, so concurrent callers and processes rarely get the same port. */
let nextPort = randomInt(ports.count)

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. Throws StartError if none is free. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < ports.count; tries++) {
    const port = ports.first + (nextPort++ % ports.count)
    if (await isFree(port)) return port
  }
  throw new StartError(
    `no port of 127.0.0.1 is free from ${ports.first} to ${ports.first + ports.count - 1}`,
  )
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Ends the launcher with a reason that the user must fix. */
export function endHopeless(reason: string): never {
  writeSync(2, reason)
  process.exit(cannotStart)
}

/** Reads the launcher's settings from the first line of its standard input. */
export function launcherSettings<Settings>(): Promise<Settings & { port: number }> {
  return new Promise((resolve) => {
    let text = ''
    const read = (chunk: string) => {
      text += chunk
      if (!text.includes('\n')) return
      process.stdin.off('data', read)
      resolve(JSON.parse(text))
    }
    process.stdin.setEncoding('utf8').on('data', read)
  })
}

/** Calls `stop` after the parent process has ended and closed our standard input. */
export function onParentGone(stop: () => void): void {
  // The parent may have ended before this listener, and past events are not repeated.
  if (process.stdin.readableEnded || process.stdin.destroyed) stop()
  else process.stdin.on('end', stop).on('error', stop).resume()
}

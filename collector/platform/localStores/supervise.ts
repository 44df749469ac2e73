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
  /** Where it listens; stays the same when it is restarted. */
  readonly port: number
  /** Its own process (the launcher), for tests that kill it. */
  pid(): number | undefined
  /** Stops it and waits until it has ended. */
  stop(): Promise<void>
}

export interface LocalStoreOptions {
  name: string
  /** The launcher's bundle below dist/collector: it reads `settings` and the port from its standard input. */
  launcher: string
  settings: Record<string, unknown>
  /** Resolves when the server answers queries; rejects or throws while it doesn't. */
  ready: (port: number) => Promise<void>
  readyTimeoutMs: number
  /** How far it stands back where processors are short (nice), 0 to 19; default 0. */
  nice?: number
  onRestart: (reason: string) => void
}

/** How a launcher ends that no other try will help. */
const cannotStart = 78
const restartDelayMs = 250
const readyPollMs = 40

/**
 * Runs a store as a child process for as long as this process lives. The child's standard input is its lifeline:
 * the kernel closes it when we end, however we end, and the launcher then stops its server. A child that dies
 * is started again on the same port and data. Rejects with StartError when it does not answer within `readyTimeoutMs`,
 * or says that it never will.
 */
export async function superviseLocalStore(options: LocalStoreOptions): Promise<LocalStore> {
  const port = await freePort()
  let child: ChildProcess
  let stopping = false
  let isRunning = false
  let lastWords = ''
  /** Once it has run, whatever ends it may pass. */
  const isHopeless = (code: number | null) => code === cannotStart && !isRunning

  const start = () => {
    // Detached: a Ctrl-C in the terminal must reach the collector only, which stops its stores last.
    child = spawn(process.execPath, [launcherPath(options.launcher)], {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    })
    // Before it has any threads: each has the priority of the one that starts it.
    if (options.nice && child.pid !== undefined) setPriority(child.pid, options.nice)
    child.stdin!.on('error', () => {})
    // Not on the command line: that can be read by every user of the machine, and there is a password in it.
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
 * Below the ports that systems give to connections (ephemeral ports: from 32768 on Linux, 49152 by RFC 6335).
 * Such a port can belong to a connection before we listen on it. A connection to it without a listener can
 * connect to itself.
 */
const ports = { first: 11_000, count: 21_000 }
/** One after the other from a random one, so two who ask at once, or in two processes, hardly ever get the same. */
let nextPort = randomInt(ports.count)

/** A TCP port of 127.0.0.1 that was free a moment ago. Throws StartError where none is. */
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

/** The launcher's side: exits with a reason that the user must fix. */
export function endHopeless(reason: string): never {
  writeSync(2, reason)
  process.exit(cannotStart)
}

/** The launcher's side: the settings it was started with, the first line of its standard input. */
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

/** Calls `stop` after the process that started this one has ended: see the lifeline above. */
export function onParentGone(stop: () => void): void {
  // It may have ended during the start of this process, and missed events do not repeat.
  if (process.stdin.readableEnded || process.stdin.destroyed) stop()
  else process.stdin.on('end', stop).on('error', stop).resume()
}

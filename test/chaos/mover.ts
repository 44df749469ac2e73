import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../collector/platform/paths.ts'
import type { Random } from '../../collector/platform/seededRandom.ts'
import { killNow } from './processes.ts'

const retryMs = 1_000

export interface MoverOptions {
  /** The environment of the service. */
  env: Record<string, string>
  dataDir: string
  pixelIds: readonly string[]
  shards: number
  random: Random
}

/** Moves pixels between shards with the operator's command, which is killed at random and repeated until it succeeds. */
export class Mover {
  readonly #options: MoverOptions
  #child: ChildProcess | null = null
  #running: Promise<void> | null = null
  /** How many moves ended. */
  moved = 0
  /** How many commands were killed. */
  killed = 0
  /** Message of the last failed command. */
  lastWords = ''

  constructor(options: MoverOptions) {
    this.#options = options
  }

  /** Begins a move, or kills the command of a running one. */
  disturb(): void {
    if (this.#child?.pid) {
      this.killed++
      killNow(this.#child.pid)
    } else this.#running ??= this.#move()
  }

  /** Waits for the running move. */
  async finish(): Promise<void> {
    await this.#running
  }

  async #move(): Promise<void> {
    const { pixelIds, shards, random } = this.#options
    const pixelId = random.pick(pixelIds)
    const to = random.integer(1, shards)
    while ((await this.#command(pixelId, to)) !== 0) await delay(retryMs)
    this.moved++
    this.#running = null
  }

  #command(pixelId: string, to: number): Promise<number | null> {
    const { env, dataDir } = this.#options
    const cli = join(packageRoot, 'dist/collector/cli.js')
    const child = spawn(process.execPath, [cli, 'shards', 'move', pixelId, '--to', String(to)], {
      env: { ...process.env, ...env, FOOTFALL_DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    child.stderr.on('data', (text) => {
      this.lastWords = String(text).slice(0, 500)
    })
    return new Promise((resolve) => {
      child.once('exit', (code) => {
        this.#child = null
        resolve(code)
      })
    })
  }
}

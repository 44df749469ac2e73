/**
 * Chooses the Node that runs Footfall: the current one if it is new enough, otherwise Node 24, which npm
 * installed as an optional dependency. Every launcher begins with `await handOver()`. This file is plain
 * JavaScript for Node 20.15.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** Environment variable with the launcher's process id, for the process that it starts. */
export const launcherVariable = 'FOOTFALL_LAUNCHER_PID'

/** A Ctrl-C reaches all processes of the group, and npm sends it again, so the process receives it twice. */
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

const parentPollMs = 250

/** Whether this Node can run Footfall. */
export const isNewEnough = () => versionOf(process.versions.node)[0] >= 22

/** Whether this Node version can run the launchers. */
const canLaunch = ([major, minor]) => (major === 20 && minor >= 15) || major > 20

/** Ends the process with a message if this Node cannot run the launchers. */
export function checkLauncher() {
  if (!canLaunch(versionOf(process.versions.node)))
    fail(`Node 20.15 or newer is needed to start, this is ${process.versions.node}`)
}

/**
 * Resolves if this Node is new enough. Otherwise it runs the same command line on the Node that npm
 * installed, with our streams and signals, and then ends this process. In both cases, the program ends after
 * its launcher has ended for any reason.
 */
export async function handOver() {
  const launcher = takeLauncher()
  if (launcher) endAfter(launcher)
  // The shell that npm starts us in does not pass signals on.
  else if (process.env.npm_lifecycle_event) endAfter(process.ppid)

  if (isNewEnough()) return
  const commandLine = [...process.execArgv, ...process.argv.slice(1)]
  await run(installedNode(), commandLine, { env: { [launcherVariable]: String(process.pid) } })
  process.exit(0)
}

/**
 * Runs a program with our streams and signals. Resolves if it succeeds; otherwise this process ends with the
 * same exit code or signal.
 */
export async function run(command, args, { cwd, env } = {}) {
  const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } })
  const forward = (signal) => child.kill(signal)
  for (const signal of forwardedSignals) process.on(signal, forward)
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('exit', (...outcome) => resolve(outcome)).once('error', reject)
  })
  for (const signal of forwardedSignals) process.off(signal, forward)
  if (code === 0) return
  if (signal) {
    process.kill(process.pid, signal)
    // If the signal does not end this process, it uses the exit code that a shell would use.
    await new Promise((resolve) => setTimeout(resolve, parentPollMs))
  }
  process.exit(code ?? 128 + constants.signals[signal])
}

/** Prints the reason and ends the process. */
export function fail(message) {
  console.error(`footfall: ${message}`)
  process.exit(1)
}

/**
 * Returns the parent process id from the environment, or 0, and removes it so that child processes do not
 * inherit it.
 */
export function takeLauncher() {
  const launcher = Number(process.env[launcherVariable] ?? 0)
  delete process.env[launcherVariable]
  return launcher
}

/** Sends SIGTERM to this process as soon as `parent` is no longer its parent. */
export function endAfter(parent) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, parentPollMs)
  watch.unref()
}

/**
 * Returns the Node of the optional dependency for this platform; without one, ends the process with a
 * message.
 */
function installedNode() {
  const name = `node-${process.platform}-${process.arch}`
  const folder = installedPackage(name)
  if (folder) return join(folder, 'bin/node')
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  const version = { ...manifest.optionalDependencies, ...manifest.localPackages }[name]
  const advice = version
    ? `${name} is not installed: run npm install ${name}@${version}, or install Node 24`
    : `package.json has no ${name}, which would install it: install Node 24`
  fail(`Node 24 is required (22 also works), this is ${process.versions.node}; ${advice}`)
}

/** Returns the folder of an installed package; npm puts the packages of an installed Footfall next to it. */
export const installedPackage = (name) =>
  [join(packageRoot, 'node_modules', name), join(packageRoot, '..', name)].find((folder) =>
    existsSync(join(folder, 'package.json')),
  )

const versionOf = (version) => version.split('.').map(Number)

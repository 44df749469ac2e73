/**
 * Stores builds in .builds/, each in a directory named by its contents; dist/ is a link to the newest. So a
 * service keeps the files that it started from, during any later build.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const builds = join(root, '.builds')
const dist = join(root, 'dist')

/** How many builds are kept, because a running service may need an older one. */
const buildsKept = 5

/** Returns when the newest build began, in milliseconds of the clock of the files; 0 without a build. */
export function builtAt() {
  // A checkout that was copied may have the link without the build.
  return existsSync(dist) ? statSync(dist).mtimeMs : 0
}

/** Returns an empty directory to build in. Throws if the disk cannot be written. */
export function newDraft() {
  const draft = join(builds, `draft-${process.pid}`)
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  return draft
}

/** Makes a finished draft the target of dist/, atomically, and deletes the oldest builds. */
export function publish(draft) {
  const build = join(builds, hashOf(draft))
  const { birthtime } = statSync(draft)
  if (existsSync(build)) rmSync(draft, { recursive: true })
  else renameSync(draft, build)
  utimesSync(build, birthtime, birthtime)

  const link = join(root, `.dist-${process.pid}`)
  rmSync(link, { force: true })
  symlinkSync(join('.builds', basename(build)), link)
  // A link cannot replace a directory, which earlier versions created.
  if (lstatSync(dist, { throwIfNoEntry: false })?.isDirectory())
    renameSync(dist, join(builds, `directory-${process.pid}`))
  renameSync(link, dist)
  forgetOld()
}

/** Hashes the names and contents of all files below a directory. */
function hashOf(directory) {
  const hash = createHash('sha256')
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  for (const file of files)
    hash.update(`${file.slice(directory.length)}\n`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 12)
}

function forgetOld() {
  const newestFirst = readdirSync(builds)
    .map((name) => join(builds, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  for (const old of newestFirst.slice(buildsKept)) rmSync(old, { recursive: true, force: true })
}

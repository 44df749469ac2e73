/**
 * Known vulnerabilities of the service's dependencies, by `npm audit`. Exit code 1 for a high or critical
 * one. An unavailable registry, or one without advisories, is reported and fails nothing.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  encoding: 'utf8',
  timeout: 60_000,
  maxBuffer: 64 * 1024 * 1024,
})
const found = foundIn(stdout)
if (!found) console.log('npm audit: the registry could not be asked; nothing was checked')
else {
  for (const { name, severity, range } of found)
    console.log(`npm audit: ${severity}: ${name} ${range}`)
  console.log(`npm audit: ${found.length} known vulnerabilities`)
  if (found.some(({ severity }) => severity === 'high' || severity === 'critical'))
    process.exitCode = 1
}

/** The vulnerabilities of a report; null for an invalid one. */
function foundIn(text) {
  try {
    const { vulnerabilities } = JSON.parse(text)
    return vulnerabilities ? Object.values(vulnerabilities) : null
  } catch {
    return null
  }
}

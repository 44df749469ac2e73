import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

test('no file, export or dependency is left that nothing uses, and none is used that is not named', async () => {
  const knip = join(packageRoot, 'node_modules/knip/bin/knip.js')
  const found = await new Promise<string>((resolve) =>
    execFile(process.execPath, [knip, '--no-progress'], { cwd: packageRoot }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` || error.message : ''),
    ),
  )
  expect(found).toBe('')
}, 120_000)

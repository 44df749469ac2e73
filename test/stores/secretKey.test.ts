/** `npx footfall-server doctor` compares FOOTFALL_SECRET_KEY with the secrets in PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { examineSecretKey } from '../../collector/ops/doctor/checkSecretKey.ts'
import { createSecretBox } from '../../collector/platform/outbound/secretBox.ts'
import { proveSecretKey } from '../../collector/platform/outbound/secretKeyProof.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'

const [ours, other] = [randomBytes(32), randomBytes(32)]
const settings = (...keys: Buffer[]) => ({
  secretKeys: keys.map((key) => key.toString('base64')),
  databaseUrl: 'postgres://elsewhere',
  dataDir: '/nowhere',
})
const open = async () => {
  const postgres = openPostgres(await newPostgresDatabase(), () => {})
  onTestFinished(() => postgres.end())
  return postgres
}
const well = [{ ok: true, text: 'FOOTFALL_SECRET_KEY decrypts the secrets in PostgreSQL' }]
const isOther = [
  {
    ok: false,
    text: 'FOOTFALL_SECRET_KEY is another key than that of the other machines or of earlier starts: set the key of the other machines, or add an earlier key after a comma',
  },
]

test('a key that another machine does not have is found', async () => {
  const postgres = await open()
  expect(await examineSecretKey(postgres, settings(ours))).toEqual(well)
  await postgres.query(
    `WITH someone AS (
       INSERT INTO users (email, password_hash) VALUES ('olga@example.com', 'x') RETURNING user_id
     )
     INSERT INTO second_factors (user_id, secret) SELECT user_id, $1 FROM someone`,
    [createSecretBox([other]).seal('secret', 'test')],
  )
  expect(await examineSecretKey(postgres, settings(ours))).toEqual([
    {
      ok: false,
      text: 'FOOTFALL_SECRET_KEY does not decrypt all secrets in PostgreSQL: set the key of the other machines, or add an earlier key after a comma',
    },
  ])
  expect(await examineSecretKey(postgres, settings(ours, other))).toEqual(well)
  expect(await examineSecretKey(postgres, settings())).toEqual([])
})

test('a wrong key is found before a secret is stored, and a rotated key is not wrong', async () => {
  const postgres = await open()
  expect(await proveSecretKey(postgres, settings())).toBe(true)
  expect(await proveSecretKey(postgres, settings(ours))).toBe(true)
  expect(await proveSecretKey(postgres, settings(other))).toBe(false)
  expect(await examineSecretKey(postgres, settings(other))).toEqual(isOther)
  expect(await examineSecretKey(postgres, settings(ours))).toEqual(well)

  expect(await proveSecretKey(postgres, settings(other, ours))).toBe(true)
  expect(await examineSecretKey(postgres, settings(other))).toEqual(well)
  expect(await examineSecretKey(postgres, settings(ours))).toEqual(isOther)
})

/** `npx footfall-server doctor` compares FOOTFALL_SECRET_KEY with the secrets in PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { examineSecretKey } from '../../collector/ops/doctor/checkSecretKey.ts'
import { createSecretBox } from '../../collector/platform/outbound/secretBox.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'

test('a key that another machine does not have is found', async () => {
  const [ours, other] = [randomBytes(32), randomBytes(32)]
  const base64 = (...keys: Buffer[]) => keys.map((key) => key.toString('base64'))
  const postgres = openPostgres(await newPostgresDatabase(), () => {})
  try {
    const well = [{ ok: true, text: 'FOOTFALL_SECRET_KEY decrypts the secrets in PostgreSQL' }]
    expect(await examineSecretKey(postgres, base64(ours))).toEqual(well)
    await postgres.query(
      `WITH someone AS (
         INSERT INTO users (email, password_hash) VALUES ('olga@example.com', 'x') RETURNING user_id
       )
       INSERT INTO second_factors (user_id, secret) SELECT user_id, $1 FROM someone`,
      [createSecretBox([other]).seal('secret', 'test')],
    )
    expect(await examineSecretKey(postgres, base64(ours))).toEqual([
      {
        ok: false,
        text: 'FOOTFALL_SECRET_KEY does not decrypt all secrets in PostgreSQL: set the key of the other machines, or add an earlier key after a comma',
      },
    ])
    expect(await examineSecretKey(postgres, base64(ours, other))).toEqual(well)
    expect(await examineSecretKey(postgres, [])).toEqual([])
  } finally {
    await postgres.end()
  }
})

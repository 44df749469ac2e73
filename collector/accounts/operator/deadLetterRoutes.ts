import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { conflict } from '../../api/http/errors.ts'
import { readDeadLetters, replayDeadLetters } from '../../ingest/shipper/deadLetters.ts'
import { LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import type { OperatorDeps } from './operatorDeps.ts'
import { requireOperator } from './operators.ts'

const shownMax = 100
const rowCharsMax = 2_000
/** The route reads complete files. Larger ones need the command line. */
const bytesMax = 32 * 1024 * 1024
const replayedMax = 1_000
/** One request at a time replays dead letters. */
const replayLease = 'operator.dead_letters'

const tags = ['Dashboard']
const path = '/dashboard/operator/dead-letters'

/** /dashboard/operator/dead-letters: rows that ClickHouse refused, on the machine that answers. */
export const deadLetterRoutes =
  ({ postgres, clickhouse, deadLetterDirectory }: OperatorDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = {
      access: { to: 'session' },
      refusals: {
        409: '`conflict`: there are too many dead letters for this route, or another operator is replaying them.',
      },
    } as const

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'listDeadLetters',
          summary: 'List dead letters',
          description: `Requires an operator. Returns the first ${shownMax} rows that ClickHouse refused on the answering machine, with the reason. Rows are cut to ${rowCharsMax} characters.`,
          querystring: strictObject({}),
          response: {
            200: Type.Object({
              total: Type.Integer(),
              dead_letters: Type.Array(
                Type.Object({ table: Type.String(), reason: Type.String(), row: Type.String() }),
              ),
            }),
          },
        },
      },
      async ({ principal }) => {
        await requireOperator(postgres, principal)
        requireReadable(deadLetterDirectory)
        const letters = readDeadLetters(deadLetterDirectory).flatMap((file) => file.letters)
        return {
          total: letters.length,
          dead_letters: letters.slice(0, shownMax).map(({ row, ...letter }) => ({
            ...letter,
            row: row.slice(0, rowCharsMax).toWellFormed(),
          })),
        }
      },
    )

    app.post(
      `${path}/replay`,
      {
        config,
        schema: {
          tags,
          operationId: 'replayDeadLetters',
          summary: 'Replay dead letters',
          description: `Requires an operator. Inserts up to ${replayedMax} dead letters of the answering machine again. Rows that ClickHouse refuses again stay.`,
          response: { 200: Type.Object({ replayed: Type.Integer(), refused: Type.Integer() }) },
        },
      },
      async ({ principal, log }) => {
        await requireOperator(postgres, principal)
        requireReadable(deadLetterDirectory)
        return withLease(postgres, replayLease, async () => {
          const done = await replayDeadLetters(clickhouse.live, deadLetterDirectory, replayedMax)
          log.info(done, 'an operator has replayed dead letters')
          return done
        }).catch((error) => {
          throw error instanceof LeaseHeldError
            ? conflict(
                'invalid_state',
                'Another operator is replaying the dead letters. Try again later.',
              )
            : error
        })
      },
    )
  }

function requireReadable(directory: string): void {
  const bytes = existsSync(directory)
    ? readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
    : 0
  if (bytes > bytesMax)
    throw conflict(
      'count_limit_reached',
      'There are too many dead letters for this page. Use `npx footfall-server dead-letters`.',
    )
}

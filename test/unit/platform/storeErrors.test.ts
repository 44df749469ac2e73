import { expect, test } from 'vitest'
import {
  ClickHouseRefused,
  isDamaged,
  isUnavailable,
} from '../../../collector/platform/storeErrors.ts'

test('a shard that ends while it answers is unavailable, and a truncated file is damaged', () => {
  const ended = new ClickHouseRefused(
    'Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from 10.0.0.2:9000',
    32,
  )
  const truncated = new ClickHouseRefused(
    'Code: 32. DB::Exception: Attempt to read after eof: (while reading column page_url)',
    32,
  )
  expect([isUnavailable(ended), isDamaged(ended)]).toEqual([true, false])
  expect([isUnavailable(truncated), isDamaged(truncated)]).toEqual([false, true])
})

import { describe, expect, test } from 'vitest'
import type { Campaign } from '../../../../collector/activation/campaigns/campaigns.ts'
import { budgetStatusOf } from '../../../../collector/activation/campaigns/pacing.ts'
import { metricsOf } from '../../../../collector/activation/campaigns/performance.ts'

const campaign: Campaign = {
  campaign_id: 'c',
  project_id: 'p',
  name: 'Spring',
  status: 'active',
  version: 1,
  audience_id: null,
  budget: 1000,
  start_date: '2026-03-01',
  end_date: '2026-03-10',
  created_at: '2026-02-01T00:00:00.000Z',
  updated_at: '2026-02-01T00:00:00.000Z',
}
const status = (now: string, spend: number, change: Partial<Campaign> = {}) =>
  budgetStatusOf({ ...campaign, ...change }, spend * 1e6, Date.parse(now))
const paceAt = (...given: Parameters<typeof status>) => status(...given).pacing.health

describe('pacing', () => {
  test('compares spend with the budget spread evenly over the flight', () => {
    expect(status('2026-03-06T00:00:00Z', 400)).toEqual({
      campaign_id: 'c',
      project_id: 'p',
      name: 'Spring',
      status: 'active',
      budget: 1000,
      spend: 400,
      remaining: 600,
      utilization: 0.4,
      pacing: {
        health: 'underpacing',
        start_date: '2026-03-01',
        end_date: '2026-03-10',
        elapsed: 0.5,
        expected_spend: 500,
        ratio: 0.8,
      },
    })
  })

  test.each([
    ['2026-03-06T00:00:00Z', 449.99, 'underpacing'],
    ['2026-03-06T00:00:00Z', 450, 'on_track'],
    ['2026-03-06T00:00:00Z', 550, 'on_track'],
    ['2026-03-06T00:00:00Z', 550.01, 'overpacing'],
    ['2026-03-06T00:00:00Z', 1000, 'exhausted'],
    ['2026-03-06T00:00:00Z', 0, 'underpacing'],
    ['2026-03-01T00:00:00Z', 0, 'on_track'],
  ] as const)('at %s with %d spent is %s', (now, spend, health) => {
    expect(paceAt(now, spend)).toBe(health)
  })

  test('the flight begins with its first day and ends with its last, UTC', () => {
    expect(paceAt('2026-02-28T23:59:59.999Z', 0)).toBe('not_started')
    expect(paceAt('2026-03-01T00:00:00.001Z', 0)).toBe('underpacing')
    expect(paceAt('2026-03-10T23:59:59.999Z', 990)).toBe('on_track')
    expect(paceAt('2026-03-11T00:00:00Z', 990)).toBe('ended')
    expect(status('2026-04-01T00:00:00Z', 0).pacing.elapsed).toBe(1)
  })

  test('without a budget or a last day says so', () => {
    expect(status('2026-03-06T00:00:00Z', 400, { budget: null })).toMatchObject({
      budget: null,
      spend: 400,
      remaining: null,
      utilization: null,
      pacing: { health: 'no_budget', expected_spend: null, ratio: null },
    })
    expect(status('2026-03-06T00:00:00Z', 400, { end_date: null })).toMatchObject({
      remaining: 600,
      pacing: { health: 'open_ended', elapsed: null, expected_spend: null, ratio: null },
    })
  })

  test('overspent is below zero, and a budget of nothing is exhausted', () => {
    expect(status('2026-03-06T00:00:00Z', 1000.000001)).toMatchObject({
      remaining: -0.000001,
      utilization: 1,
    })
    expect(status('2026-03-06T00:00:00Z', 0, { budget: 0 })).toMatchObject({
      utilization: null,
      pacing: { health: 'exhausted' },
    })
  })
})

test('metrics of nothing are zeros, not fractions of zero', () => {
  const zeros = { impressions: 0, clicks: 0, spend: 0, ctr: 0, cpm: 0 }
  expect(metricsOf({ impressions: 0, clicks: 0, spendMicros: 0 })).toEqual(zeros)
  expect(metricsOf({ impressions: 0, clicks: 3, spendMicros: 10 })).toEqual({
    ...zeros,
    clicks: 3,
    spend: 0.00001,
  })
})

test('ctr is clicks per impression, cpm the spend for a thousand', () => {
  expect(metricsOf({ impressions: 3000, clicks: 7, spendMicros: 7_500_000 })).toEqual({
    impressions: 3000,
    clicks: 7,
    spend: 7.5,
    ctr: 0.002333,
    cpm: 2.5,
  })
})

import { expect, test } from 'vitest'
import { propertiesIn, samplesIn } from '../../../collector/dashboard/web/view/properties.ts'

test('the properties of custom events are those of all sets, once, without names that no path contains', () => {
  const sets = ['{"plan":"pro","total":49}', null, '{"total":0,"a.b":1,"c,d":2,"e:f":3}', '{}']
  expect(propertiesIn(sets)).toEqual(['event_data.properties.plan', 'event_data.properties.total'])
})

test('samples of properties are their first different values, numbers first', () => {
  const sets = ['{"plan":"pro","total":49,"cart":{}}', null, '{"total":"5.5","plan":"pro"}']
  expect(samplesIn(sets)).toEqual([
    ['total', ['49', '5.5']],
    ['plan', ['pro']],
  ])
})

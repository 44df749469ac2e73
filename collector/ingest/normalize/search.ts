import type { PixelSettings } from '../../../schemas/beacon.ts'
import { urlLengthMax } from '../../../schemas/events/common.ts'
import { isObject } from '../../platform/json.ts'
import { fieldsIn } from './elements.ts'
import { clean, cut, isText, textOf } from './text.ts'
import type { Data } from './validateEvent.ts'

/**
 * Returns the search in the URL of a page view. Undefined without one, or if it was already counted, by its
 * form or on the previous page. Further pages, filters and returns are not new searches.
 */
export function searchOfPage(data: Data, settings: PixelSettings): Data | undefined {
  const { url, referrer, searched, results } = data
  const query = queryOf(url, settings.search_parameters)
  if (!query || query === searched) return
  if (isSameSite(url, referrer) && query === queryOf(referrer, settings.search_parameters)) return
  const count = Number.parseInt(cut(results, 20) ?? '', 10)
  return {
    query: cut(clean(query), settings.text_length_max),
    results_count: count >= 0 ? count : null,
  }
}

/**
 * Returns the search of a submitted form. Undefined without one, and if its results page will contain it. A
 * GET form leads to such a page with a parameter of this site, unless the page handles the form.
 */
export function searchOfForm(data: Data, settings: PixelSettings): Data | undefined {
  const { form, fields, prevented } = data
  const field = fieldsIn(fields).findLast(({ query }) => query)
  if (!field) return
  const method = isObject(form) && textOf(form.method)?.toLowerCase()
  const showsItself = method !== 'post' && settings.search_parameters.includes(field.name)
  if (showsItself && !prevented) return
  return { query: cut(clean(field.query), settings.text_length_max), results_count: null }
}

function queryOf(url: unknown, parameters: readonly string[]): string | undefined {
  if (!isText(url) || url.length > urlLengthMax || !URL.canParse(url)) return
  return [...new URL(url).searchParams].findLast(
    ([name, value]) => parameters.includes(name) && value,
  )?.[1]
}

const isSameSite = (url: unknown, other: unknown): boolean => {
  const host = hostOf(url)
  return host !== undefined && host === hostOf(other)
}

const hostOf = (url: unknown): string | undefined =>
  isText(url) && url.length <= urlLengthMax && URL.canParse(url) ? new URL(url).host : undefined

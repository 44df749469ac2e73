/** The properties of footfall('set', …). The own properties of later custom events override them. */
export let common: object | undefined

export const set = (properties: object): void => {
  common = { ...common, ...properties }
}

/** Returns SQL of the main hem number of a person, from any of their hem numbers. */
export const personOf = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'person_number', tuple(${hemNumber}), ${hemNumber})`

/** Returns SQL of all hem numbers of a person, from any of them. */
export const hemsOfPerson = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'hems', tuple(${hemNumber}), [${hemNumber}])`

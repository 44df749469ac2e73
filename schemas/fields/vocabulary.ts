/** The fixed lists that profile fields choose from. The taxonomy routes and the sample people use the same ones. */

export const emailStatuses = ['valid', 'catch_all', 'risky', 'invalid', 'unknown'] as const

/** From the top of the company downwards. */
export const seniorities = [
  'owner',
  'c_suite',
  'vice_president',
  'director',
  'manager',
  'senior',
  'staff',
  'entry',
] as const

export const departments = [
  'Customer Service',
  'Design',
  'Engineering',
  'Finance',
  'Human Resources',
  'Information Technology',
  'Legal',
  'Marketing',
  'Operations',
  'Product',
  'Purchasing',
  'Sales',
] as const

/** Industries and their parts. */
export const industries = {
  'Business Services': ['Advertising', 'Consulting', 'Facilities', 'Staffing'],
  Construction: ['Building Materials', 'Civil Engineering', 'Residential Building'],
  Education: ['Colleges', 'Schools', 'Training'],
  'Energy and Utilities': ['Electricity', 'Oil and Gas', 'Renewables', 'Water'],
  'Financial Services': ['Banking', 'Insurance', 'Investment', 'Lending'],
  Government: ['Local Government', 'Public Safety'],
  Healthcare: ['Biotechnology', 'Hospitals', 'Medical Devices', 'Pharmaceuticals'],
  Hospitality: ['Hotels', 'Restaurants', 'Travel Services'],
  Manufacturing: ['Automotive', 'Chemicals', 'Electronics', 'Food and Beverage', 'Machinery'],
  'Media and Entertainment': ['Broadcasting', 'Games', 'Publishing', 'Sports'],
  'Non-profit': ['Charities', 'Foundations', 'Membership Organizations'],
  'Real Estate': ['Brokerage', 'Property Management'],
  Retail: ['Apparel', 'E-commerce', 'Groceries', 'Home and Garden'],
  Software: ['Analytics', 'Business Applications', 'Developer Tools', 'Security'],
  Telecommunications: ['Carriers', 'Network Equipment'],
  Transportation: ['Airlines', 'Logistics', 'Rail and Road'],
} as const

/** The sectors of the North American Industry Classification System, 2022 (census.gov/naics). */
export const naicsSectors = {
  '11': 'Agriculture, Forestry, Fishing and Hunting',
  '21': 'Mining, Quarrying, and Oil and Gas Extraction',
  '22': 'Utilities',
  '23': 'Construction',
  '31-33': 'Manufacturing',
  '42': 'Wholesale Trade',
  '44-45': 'Retail Trade',
  '48-49': 'Transportation and Warehousing',
  '51': 'Information',
  '52': 'Finance and Insurance',
  '53': 'Real Estate and Rental and Leasing',
  '54': 'Professional, Scientific, and Technical Services',
  '55': 'Management of Companies and Enterprises',
  '56': 'Administrative and Support and Waste Management and Remediation Services',
  '61': 'Educational Services',
  '62': 'Health Care and Social Assistance',
  '71': 'Arts, Entertainment, and Recreation',
  '72': 'Accommodation and Food Services',
  '81': 'Other Services (except Public Administration)',
  '92': 'Public Administration',
} as const

export const companyTypes = [
  'private',
  'public',
  'nonprofit',
  'government',
  'education',
  'self_employed',
] as const

export const employeeRanges = [
  '1-10',
  '11-50',
  '51-200',
  '201-500',
  '501-1000',
  '1001-5000',
  '5001-10000',
  '10001+',
] as const

export const revenueRanges = [
  'under 1M',
  '1M-10M',
  '10M-50M',
  '50M-100M',
  '100M-500M',
  '500M-1B',
  'over 1B',
] as const

export const fundingStages = [
  'seed',
  'series_a',
  'series_b',
  'series_c',
  'late',
  'acquired',
  'public',
] as const

export const genders = ['female', 'male', 'other'] as const

export const ageRanges = ['18-24', '25-34', '35-44', '45-54', '55-64', '65+'] as const

export const generations = [
  'Gen Z',
  'Millennials',
  'Gen X',
  'Baby Boomers',
  'Silent Generation',
] as const

export const maritalStatuses = ['single', 'married', 'divorced', 'widowed'] as const

export const incomeRanges = [
  'under 25K',
  '25K-50K',
  '50K-75K',
  '75K-100K',
  '100K-150K',
  '150K-250K',
  'over 250K',
] as const

export const netWorthRanges = [
  'under 50K',
  '50K-100K',
  '100K-250K',
  '250K-500K',
  '500K-1M',
  'over 1M',
] as const

export const creditRatings = ['excellent', 'good', 'fair', 'poor'] as const

export const educationLevels = [
  'high_school',
  'some_college',
  'bachelor',
  'master',
  'doctorate',
] as const

export const dwellingTypes = ['house', 'apartment', 'condominium', 'mobile_home'] as const

/** Where the researchers' page finds a study that was begun on the start page. */
export const STUDY_DRAFT = 'melicit-study-draft';

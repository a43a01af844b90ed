import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foundWord, toldAs } from '../src/lib/consequences';
import type { Question, Words } from '../src/lib/types';

const CANCER: Words = {
  mistakes: { missed: 'missed cancer', missed_plural: 'missed cancers', false_alarm: 'false alarm', false_alarm_plural: 'false alarms' },
};
const BIOPSY: Words = {
  ...CANCER,
  consequences: { alarmed: 'healthy person gets a biopsy', alarmed_plural: 'healthy people get a biopsy' },
};

/** A and B miss and alarm so many. */
function question(missed: [number, number], alarms: [number, number], more: Partial<Question> = {}): Question {
  const mistakes = [
    { text: 'alarms', a: alarms[0], b: alarms[1], true: 0, predicted: 1 },
    { text: 'missed', a: missed[0], b: missed[1], true: 1, predicted: 0 },
  ];
  return {
    classes: [{ name: 'healthy' }, { name: 'cancer' }],
    positive: 1,
    people: 1000,
    differences: mistakes.filter((d) => d.a !== d.b),
    ...more,
  } as Question;
}

test('what B does otherwise, for one and for several, more and fewer', () => {
  const rows: [Question, Words | undefined, string][] = [
    [question([10, 7], [20, 49]), BIOPSY, 'B finds 3 more cancers; 29 more healthy people get a biopsy.'],
    [question([10, 7], [20, 49]), CANCER, 'B finds 3 more cancers; 29 more false alarms.'],
    [question([7, 8], [21, 20]), BIOPSY, 'B finds 1 fewer cancer; 1 fewer healthy person gets a biopsy.'],
    [question([7, 8], [21, 20]), CANCER, 'B finds 1 fewer cancer; 1 fewer false alarm.'],
    [question([0, 1200], [1200, 0]), CANCER, 'B finds 1,200 fewer cancers; 1,200 fewer false alarms.'],
    [question([10, 7], [20, 20]), BIOPSY, 'B finds 3 more cancers.'],
    [question([7, 7], [20, 49]), BIOPSY, 'With B, 29 more healthy people get a biopsy.'],
    [question([7, 7], [20, 49]), CANCER, 'B has 29 more false alarms.'],
    [question([10, 7], [20, 49]), undefined, 'B finds 3 more cases; 29 more false alarms.'],
  ];
  for (const [q, words, told] of rows) assert.equal(toldAs(q, words), told);
});

test('the words of a study come first, and what is not about finding is told as the mistake it is', () => {
  const q = question([10, 9], [20, 49]);
  assert.equal(
    toldAs(q, { ...CANCER, consequences: { found: 'tumour', found_plural: 'tumours' } }),
    'B finds 1 more tumour; 29 more false alarms.',
  );
  const loans: Words = {
    mistakes: {
      missed: 'loan that is lost',
      missed_plural: 'loans that are lost',
      false_alarm: 'good applicant refused',
      false_alarm_plural: 'good applicants refused',
    },
  };
  assert.equal(toldAs(q, loans), 'B has 1 fewer loan that is lost; 29 more good applicants refused.');
  assert.equal(foundWord(loans, 2), null);
  assert.equal(foundWord({ mistakes: { missed: 'missed sepsis' } }, 3), 'sepsis cases');
});

test('systems that exist are named', () => {
  const names: [string, string] = ['old', 'new'];
  assert.equal(toldAs(question([10, 7], [20, 49], { names }), CANCER), 'B (new) finds 3 more cancers than A (old); 29 more false alarms.');
  assert.equal(
    toldAs(question([7, 7], [20, 49], { names }), BIOPSY),
    'With B (new) instead of A (old), 29 more healthy people get a biopsy.',
  );
});

test('more classes are told as the server tells them', () => {
  const q = question([10, 7], [20, 49], { classes: ['a', 'b', 'c'].map((name) => ({ name })) });
  assert.equal(toldAs(q, CANCER), 'From A to B: alarms and missed.');
});

var t="melicit-study-draft";export{t as a};

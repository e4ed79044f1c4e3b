package verbena.checked.corpus;

import verbena.check.Rule;

/// A small program with one mistake, and the same without it. In the source a comment `// here` stands at the line
/// where the mistake is noticed, and `// earlier` at the line of the step before it.
interface Program {
    Rule rule();

    void wrong(TwoEnds scene) throws Exception;

    void right(TwoEnds scene) throws Exception;
}

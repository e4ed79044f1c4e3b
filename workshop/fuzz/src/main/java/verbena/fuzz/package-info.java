/// Fuzz targets: each hands bytes of any content to a parser and asserts what the parser promises. They run in two
/// ways. The default tests replay the corpus that lies in the repository; `./verbena fuzz` has Jazzer search for
/// more, guided by the coverage of the code below. No target knows Jazzer.
@NullMarked
package verbena.fuzz;

import org.jspecify.annotations.NullMarked;

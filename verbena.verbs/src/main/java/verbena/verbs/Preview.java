package verbena.verbs;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The mark of a part of the API that may change or go with any version. What is not marked stays, so that a program
/// which compiles today compiles with the next version too. `docs/api/signatures.txt` lists the marked parts.
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.FIELD})
public @interface Preview {}

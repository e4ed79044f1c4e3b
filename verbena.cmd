@echo off
rem Verbena's launcher for a checkout on Windows: builds what is missing, and runs. Like ./verbena, but it does not see
rem that sources are newer than the build: "verbena build" builds anew. The commands for developers, and those for
rem programs of Linux, are in ./verbena alone. docs/systems.md says what was tried.
setlocal
set "home=%~dp0"
set "version=0.1.0-SNAPSHOT"
set "tools=%home%verbena.tools\target"
set "java=java"
if defined JAVA_HOME set "java=%JAVA_HOME%\bin\java.exe"
if /i "%~1"=="run" (
  echo verbena run: programs for libibverbs are programs for Linux 1>&2
  exit /b 1
)
if /i "%~1"=="agent" (
  echo -javaagent:%home%verbena.nio\target\verbena-nio.jar
  exit /b 0
)
"%java%" --version 2>nul | findstr /r /c:"^[a-z]* 2[5-9]" /c:"^[a-z]* [3-9][0-9]" >nul
if errorlevel 1 (
  echo verbena: needs a JDK 25 or newer: install one, and set JAVA_HOME 1>&2
  exit /b 1
)
if /i "%~1"=="build" goto build
if exist "%tools%\modules\" if exist "%tools%\verbena.tools-%version%.jar" goto start
:build
where mvn >nul 2>nul
if errorlevel 1 (
  echo verbena: needs Maven 3.8 or newer in the path 1>&2
  exit /b 1
)
echo verbena: building ... 1>&2
pushd "%home%"
call mvn -q -B -Dmaven.test.skip -pl verbena.tools -am package
set "status=%errorlevel%"
popd
if not "%status%"=="0" exit /b %status%
if /i "%~1"=="build" exit /b 0
:start
"%java%" -XX:+UseSerialGC -XX:+DisplayVMOutputToStderr -Xlog:disable "-Xlog:all=warning,aot*=off,cds*=off:stderr" ^
  "--module-path=%tools%\modules;%tools%\verbena.tools-%version%.jar" "-Dverbena.share=%home%dist\share" ^
  --enable-native-access=verbena.foreign --module verbena.tools/verbena.tools.Verbena %*
exit /b %errorlevel%
